# The self-tests on boards of other people.
#: board-tests images of the self-tests for a board of yours, and what they say there when RUN= starts them; bench/boards/README.md has all of it:
#:               CXX=arm-none-eabi-g++ FLAGS='-mcpu=cortex-m4' FLASH=0x08000000,256K RAM=0x20000000,64K PLATFORM=my_uart.cpp RUN='my_run {}'
# What is given on the command line the script has in its environment.
.PHONY: board-tests
board-tests:
	@CXX='$(CXX)' BOARD_FLAGS='$(if $(filter command,$(firstword $(origin FLAGS))),$(FLAGS),$(CXXFLAGS))' sh bench/boards/self_tests.sh $(or $(FOLDER),build/board-tests)
