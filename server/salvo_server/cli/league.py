"""``salvo league``: games over the tables of a running contest server."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import click

from salvo_server.cli.checked import Suggesting, ca_rule, checked_group
from salvo_server.cli.output import Progress, given_secret, leave_on_sigterm, print_table
from salvo_server.gateways.supervisor import programs_beside
from salvo_server.league.book import Book
from salvo_server.league.desk import Desk
from salvo_server.league.director import Director
from salvo_server.league.file import load_league
from salvo_server.league.fill import house_bots
from salvo_server.league.lines import Line, Record, record_path
from salvo_server.league.run import play_league
