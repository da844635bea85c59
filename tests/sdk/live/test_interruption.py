"""What ends a process ends it wherever it comes: Python drops what is raised in code that it calls by itself."""

from __future__ import annotations

import subprocess
import sys

import pytest

_PROGRAM = """
import gc, os, signal, weakref
from typing import Annotated
from salvo.codec.json_codec import Codec
from salvo.errors import let_interruptions_pass
from salvo.system.interruption import end_as_by_ctrl_c, exit_code
from salvo.wire.json_shape import Converted

class Thing:
    pass

class Dying:
    def __del__(self):
        come()

class Naming:
    def __set_name__(self, *_):
        come()

def come(*_):
    gc.callbacks.clear()
    signal.raise_signal(signal.{number})

def in_a_callback():
    thing = Thing()
    kept = weakref.ref(thing, come)
    del thing

def in_the_last_of_two_callbacks():
    thing = Thing()
    kept = weakref.ref(thing, come), weakref.ref(thing, lambda _: None)
    del thing

def in_a_finalizer():
    Dying()

def in_a_collection():
    gc.callbacks.append(come)
    gc.collect()

def in_a_fork():
    os.register_at_fork(after_in_parent=come)
    if not os.fork():
        os._exit(0)
    os.wait()

def in_a_class():
    try:
        type("Class", (), {{"attribute": Naming()}})
    except Exception as error:  # where a bot's code runs
        let_interruptions_pass(error)

class Form(Converted):
    form = str

    def of(self, value):
        come()

    def value(self, form):
        return form

def in_a_message_that_is_written():
    Codec(Annotated[str, Form()]).write("text")

def in_a_message_as_a_value():
    Codec(Annotated[str, Form()]).value("text")

end_as_by_ctrl_c()
try:
    {place}()
    os._exit(0)
except KeyboardInterrupt as end:
    os._exit(exit_code(end))
"""
_PLACES = (
    "in_a_callback",
    "in_the_last_of_two_callbacks",
    "in_a_finalizer",
    "in_a_collection",
    "in_a_fork",
    "in_a_class",
    "in_a_message_that_is_written",
    "in_a_message_as_a_value",
)


@pytest.mark.long
@pytest.mark.parametrize(("number", "code"), [("SIGTERM", 143), ("SIGINT", 130)])
@pytest.mark.parametrize("place", _PLACES)
def test_an_interruption_is_not_lost_where_python_drops_it(place: str, number: str, code: int) -> None:
    program = _PROGRAM.format(place=place, number=number)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (code, "")


@pytest.mark.long
def test_what_python_drops_besides_is_reported_as_ever() -> None:
    program = _PROGRAM.format(place="in_a_finalizer", number="SIGTERM").replace("signal.raise_signal", "no_such_name")
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (ended.returncode, "NameError" in ended.stderr) == (0, True)
