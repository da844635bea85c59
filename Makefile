# Everything runs in .venv, made by the first target that needs it: for a demo what the server's image has, for all else
# the whole workshop. Python 3.11 or later, git and make; uv, where it is, installs quicker than pip.
PYTHON ?= python3
BIN := .venv/bin
DEMO := .venv/demo
READY := .venv/ready
UV := $(shell command -v uv 2>/dev/null)

# Most quick tests compute; of the others many wait for processes and for time to pass, so four keep two cores busy.
# Each of them first imports all tests, which takes it some seconds.
QUICK ?= -n 3 --dist worksteal
TESTS ?= -n 4 --dist worksteal
SEEDS ?= 1000
FIRST ?= 1
JOBS ?= 2
RUNS ?= 1000000
DRAW ?= 300
TABLES ?= 30
TEAMS ?= 2
SPECTATORS ?= 500
PACE ?= 0.8
TIMES ?= 30
BOARDS ?= 10000
GAMES ?= 2000

# Every process that a test starts would compile all of the code again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test check pytest types compiled slow bench numbers load simulate chaos failover soak fuzz mutants compose-test annexes pictures docs dist wheel-test format contract clean

demo: $(DEMO)            ## four bots play a whole game on a real broker
	@$(BIN)/salvo demo
	@printf '%s\n' '' 'next, in this shell:' \
		'  . .venv/bin/activate' \
		'  salvo play human hunter --browser    play yourself' \
		'  salvo new mybot.py                   write a bot'

test: $(READY)           ## the quick tests that need nothing but Python (two minutes on two cores)
	$(BIN)/pytest $(QUICK) -m 'not needs and not long and not slow'

check: $(READY)          ## format, lint, types, import contracts, the site, and all tests but the slow ones (five to twelve minutes on two cores)
	$(BIN)/python tests/kit/programs.py
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(MAKE) --jobs=3 types docs pytest

pytest: compiled
	$(BIN)/pytest $(TESTS) -m 'not slow'

types: $(READY)
	$(BIN)/mypy
	$(BIN)/lint-imports

# Processes that start together would each compile every test; this does it once, on the core that mypy leaves idle.
# A test that cannot be imported is reported when the tests run.
compiled: $(READY)
	-@$(BIN)/pytest --collect-only --quiet >/dev/null 2>&1

slow: $(READY)           ## what a release needs besides: slow tests, 10,000 simulated contests, chaos, failover, fuzz, mutants, compose, annexes, the wheel (over an hour)
	$(BIN)/python tests/kit/programs.py
	$(BIN)/pytest $(TESTS) -m slow
	$(MAKE) simulate SEEDS=10000
	$(MAKE) simulate SEEDS=2000 BROKER=embedded
	$(MAKE) chaos
	$(MAKE) failover TIMES=5
	$(MAKE) fuzz
	$(MAKE) mutants
	$(MAKE) compose-test
	$(MAKE) annexes
	$(MAKE) wheel-test

bench: $(READY)          ## the benchmarks, a table as result (about ten minutes)
	$(BIN)/python tests/bench/run.py

numbers: $(READY)        ## docs/numbers.md: turns to clear a board, every ruleset and bot, BOARDS each; resumes (hours; SCHEDULER=URL for hosts)
	$(BIN)/python tests/bench/clearing.py --boards $(BOARDS) $(if $(SCHEDULER),--scheduler $(SCHEDULER)) $(if $(RULES),--rules $(RULES))

load: $(READY)           ## what one server carries, beside a prediction; TABLES="30 100 300" for three sizes (three minutes; ten)
	@$(BIN)/python tests/bench/load.py --tables $(TABLES) --teams $(TEAMS) --spectators $(SPECTATORS) --pace $(PACE) \
		$(if $(SECONDS_EACH),--seconds $(SECONDS_EACH)) $(if $(JSON),--json)

simulate: $(READY)       ## contests with faults from SEEDS seeds; SEED=17 shows one, FAULTS='...' with other faults; RULES=xbs other rules; BROKER=embedded
	PYTHONPATH=tests $(BIN)/python -m simulation.run --seeds $(SEEDS) --first $(FIRST) --jobs $(JOBS) \
		$(if $(SEED),--seed $(SEED) --trace) $(if $(RULES),--rules $(RULES)) $(if $(BROKER),--broker $(BROKER)) \
		$(if $(filter undefined,$(origin FAULTS)),,--faults '$(FAULTS)')

chaos: $(READY)          ## 200 kills of the server and 50 of mosquitto over 50 games, two bots of four in JavaScript; 40 with 300 accounts on either broker; 20 each of a league's server, web front and process (about forty minutes)
	$(BIN)/python tests/chaos/run.py --javascript 2 --team-kills 20
	$(BIN)/python tests/chaos/run.py --accounts 300
	$(BIN)/python tests/chaos/run.py --accounts 300 --broker embedded
	$(BIN)/python tests/chaos/league.py

failover: $(READY)       ## a server killed, frozen, cut off, TIMES each, beside a standby; the laboratory on hosts that are (about 25 minutes)
	$(BIN)/python tests/failover/run.py --times $(TIMES)
	$(BIN)/python tests/failover/run.py --times $(TIMES) --journal sqlite
	$(BIN)/python tests/failover/laboratory.py

soak: $(READY)           ## GAMES at ten tables on either broker, with teams that come and go: what all processes hold meanwhile, in build/soak (half an hour each)
	$(BIN)/python tests/soak/run.py --games $(GAMES)
	$(BIN)/python tests/soak/run.py --games $(GAMES) --broker embedded

fuzz: $(READY)           ## RUNS inputs on the border parsers, guided by coverage (a million take about ten minutes)
	$(BIN)/pip install --quiet -e '.[fuzz]'
	PYTHONPATH=tests $(BIN)/python -m fuzz.run --runs $(RUNS) --jobs $(JOBS)

mutants: $(READY)        ## DRAW errors planted in the rules and the protocol, in PARTS alone if given; nine in ten must be found by the quick tests
	$(BIN)/python tests/mutants/run.py $(PARTS) --draw $(DRAW) --jobs $(JOBS)

compose-test: $(READY)   ## docker-compose.yml, up and down for real; root and Debian's packages
	$(BIN)/python tests/compose/run.py

annexes: $(READY)        ## each annex deleted in a copy: lint, types, contracts and the tests that remain; ANNEX=salvo_league for one
	$(BIN)/python tests/annexes/run.py $(ANNEX)

pictures: $(READY)       ## every picture of the documents, from real games and pages; needs chromium
	PYTHONPATH=tests $(BIN)/python -m pictures.make

docs: $(READY)           ## the site, in build/site: open build/site/index.html
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going --conf-dir docs . build/site

dist: $(READY)           ## what a release publishes, in dist/: wheel, sources, npm package, SBOM, hashes; built twice, the same bytes; needs npm
	PYTHONPATH=tests $(BIN)/python -m release.dist

wheel-test: dist         ## the wheel in empty environments of Python 3.11 to 3.13, base and extras: a table of times
	PYTHONPATH=tests $(BIN)/python -m release.environments

format: $(READY)         ## rewrite in the house's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

contract: $(READY)       ## generated Python, the tables of the contract and of the settings, and the vectors
	$(BIN)/python proto/generate.py
	$(BIN)/python proto/vectors/make.py
	$(BIN)/python proto/exec/make.py
	$(BIN)/python proto/json_schema.py
	$(BIN)/python proto/print_contract.py
	$(BIN)/python docs/print_settings.py

clean:
	rm -rf .venv

ifneq ($(UV),)
install = @$(UV) pip install --python $(BIN)/python $(1)
else
# On a terminal one line moves: the seconds, and what pip does. What make starts in the background ignores Ctrl-C.
install = @$(BIN)/pip install --disable-pip-version-check --progress-bar off $(COMPILE) $(1) >.venv/pip.log & pip=$$!; begun=$$(date +%s); \
	trap "kill $$pip" INT TERM; \
	while kill -0 $$pip 2>/dev/null; do \
		! test -t 1 || printf '\r%4d s  %-70.70s' $$(($$(date +%s) - begun)) "$$(tail -n 1 .venv/pip.log 2>/dev/null)"; sleep 0.2; \
	done; ! test -t 1 || printf '\r%79s\r' ''; wait $$pip || { cat .venv/pip.log; exit 1; }
endif

$(BIN)/pip:
	@echo 'installing Salvo in .venv, once'
	@$(PYTHON) -m venv .venv

# The locks: uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes --no-header --no-annotate,
# with --extra dev -o requirements-dev.lock, then with
# --extra image --constraint requirements-dev.lock -o server/requirements.lock.

# Compiling what a game never imports takes longer than the game.
$(DEMO): COMPILE := --no-compile
$(DEMO): server/requirements.lock pyproject.toml | $(BIN)/pip
	$(call install,--require-hashes -r server/requirements.lock)
	$(call install,--no-deps --no-build-isolation -e .)
	@touch $@

$(READY): requirements-dev.lock pyproject.toml | $(BIN)/pip
	$(call install,--require-hashes -r requirements-dev.lock)
	$(call install,--no-deps --no-build-isolation -e .)
	@touch $(DEMO) $@
