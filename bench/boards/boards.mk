# The self-tests on boards of other people.
#: board-tests images of the self-tests for a board of yours, and what it says when RUN= starts them: bench/boards/README.md has all of it, for example
#:               CXX=arm-none-eabi-g++ FLAGS='-mcpu=cortex-m4 -mfloat-abi=hard' PLATFORM=my_uart.cpp FLASH=0x08000000,256K RAM=0x20000000,64K RUN='my_run {}'
.PHONY: board-tests
board-tests:
	@CXX='$(CXX)' BOARD_FLAGS='$(if $(filter command,$(firstword $(origin FLAGS))),$(FLAGS),$(CXXFLAGS))' PLATFORM='$(PLATFORM)' LINK='$(LINK)' \
	  FLASH='$(FLASH)' RAM='$(RAM)' RUN='$(RUN)' PROGRAMS='$(PROGRAMS)' SECONDS_TO_LIVE='$(SECONDS_TO_LIVE)' sh bench/boards/self_tests.sh $(or $(FOLDER),build/board-tests)
