// Runs before the page is drawn: the theme that this visitor chose, if any.
{
  const root = document.documentElement;
  const kept = (() => {
    try {
      return localStorage.getItem("salvo-theme");
    } catch {
      return null; // storage may be forbidden
    }
  })();
  if (kept === "light" || kept === "dark") root.dataset.theme = kept;
}
