// Pictures with their times, as a chunk of a table has them and a game that is over: a list of milliseconds and picture.

// Shows each so many milliseconds after `begins`, by performance.now(), until the function that is returned is called.
export function timed(pictures, begins, take) {
  const showing = pictures.map(([after, picture]) => setTimeout(take, begins + after - performance.now(), picture));
  return () => showing.forEach(clearTimeout);
}
