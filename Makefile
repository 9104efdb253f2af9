# Thin: every target is a program in tools/ that also works by hand.
BUILD ?= build
PREFIX ?= /usr/local

.PHONY: all setup quickstart check install sanitize fuzz format lint bundle clean help

all:
	@tools/build $(BUILD)

setup:
	@tools/setup

quickstart: all
	@tools/quickstart $(BUILD)

check:
	@tools/check $(BUILD)

install: all
	@cmake --install $(BUILD) --prefix $(PREFIX)

sanitize:
	@tools/sanitize $(BUILD)/sanitize

fuzz:
	@tools/fuzz $(BUILD)/fuzz

format:
	@tools/format

lint:
	@tools/lint $(BUILD)

bundle: all
	@tools/bundle $(BUILD)

# Keeps .venv: remove that folder by hand to fetch the tools anew.
clean:
	rm -rf $(BUILD)

help:
	@echo 'make             build into $(BUILD)/ (installs what is missing)'
	@echo 'make quickstart  build, then judge one kernel, and play a recorded trajectory'
	@echo 'make check       all tests, also under the sanitizers: what CI runs'
	@echo 'make install     to PREFIX ($(PREFIX))'
	@echo 'make setup       only install what the build needs'
	@echo 'make sanitize    unit and fuzz tests with ASan and UBSan'
	@echo 'make fuzz        libFuzzer on every target, SECONDS_EACH (20) seconds each'
	@echo 'make format      clang-format 14 on all of src, include and tests'
	@echo 'make lint        clang-tidy, shellcheck, layers, banned functions'
	@echo 'make bundle      portable folder for a GPU machine'
