"""The environment that bots and other people's programs get: what programs need to run, and no secrets.

A variable for a bot begins with ``SALVO_BOT_``.
"""

from __future__ import annotations

import os
import re
from typing import Final

#: By who needs them: people, languages, Windows, a built-in bot.
_NAMES: Final = """
    PATH HOME USER LOGNAME SHELL PWD LANG LANGUAGE TZ TERM COLORTERM NO_COLOR COLUMNS LINES TMPDIR
    VIRTUAL_ENV CONDA_PREFIX LD_LIBRARY_PATH DYLD_LIBRARY_PATH DYLD_FALLBACK_LIBRARY_PATH
    JAVA_HOME CLASSPATH DOTNET_ROOT NODE_PATH PERL5LIB RUBYLIB GEM_HOME GEM_PATH LUA_PATH LUA_CPATH GOPATH GOROOT
    CARGO_HOME RUSTUP_HOME CUDA_HOME CUDA_VISIBLE_DEVICES GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
    TEMP TMP SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT OS USERNAME USERPROFILE HOMEDRIVE HOMEPATH APPDATA
    LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE
    SALVO_SLOW_SECONDS
    """
_FAMILIES: Final = re.compile(r"(PYTHON|(LC|XDG|OMP|MKL|OPENBLAS|NUMBA|GOMP|KMP|SALVO_BOT)_).*")


def of_bots() -> dict[str, str]:
    """Return the variables of this process that bots get, too."""
    return {name: value for name, value in os.environ.items() if _is_for_bots(name)}


def keep_that_of_bots() -> None:
    """Forget all other variables, in this process and in what it starts."""
    for name in os.environ.keys() - of_bots().keys():
        del os.environ[name]


def _is_for_bots(name: str) -> bool:
    return name.upper() in _NAMES.split() or _FAMILIES.fullmatch(name.upper()) is not None
