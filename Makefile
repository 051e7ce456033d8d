# A thin front: each target is one script or one call of ninja. `make` alone lists them.
PORT ?= 4000
SECONDS ?= 60

.DEFAULT_GOAL := help
.PHONY: help build run test bench fuzz tsan tidy format clean

help: ## list the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

build: ## compile the release build: build/weir
	@scripts/deps build
	@scripts/build release weir

run: ## install what is missing, build, serve examples/quickstart.yaml on 127.0.0.1 (PORT=4000)
	@scripts/deps run
	@scripts/build release weir
	@scripts/run $(PORT)

test: ## everything that must hold before a change lands; ARGS='-k' goes on after a failure, ARGS='unit' runs one stage
	@scripts/deps test
	@scripts/venv
	@tests/run $(ARGS)

bench: ## measure weir and nginx side by side
	@scripts/deps bench
	@scripts/build release
	@tests/bench/run $(ARGS)

fuzz: ## fuzz one parser: make fuzz TARGET=name SECONDS=60
	@scripts/deps fuzz
	@scripts/fuzz "$(TARGET)" $(SECONDS)

tsan: ## run the tests of what threads share under ThreadSanitizer
	@scripts/deps test
	@scripts/build tsan
	@meson test -C build-tsan --no-rebuild --suite threads --print-errorlogs

tidy: ## clang-tidy over what changed since origin/main; FILES='src/...' or FILES=all
	@scripts/deps fuzz
	@scripts/build release
	@scripts/tidy $(FILES)

format: ## let clang-format settle the layout of all C files
	@scripts/deps test
	@scripts/venv
	@git ls-files -co --exclude-standard '*.c' '*.h' | xargs .venv/bin/clang-format -i

clean: ## remove all build directories and the Python environment
	rm -rf build build-asan build-tsan build-fuzz .venv
