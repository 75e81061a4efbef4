"""What lies beside the model: a Makefile, an Arduino sketch, and the library as two files."""
import pathlib
from typing import Dict

from .. import _c
from .errors import ExportError
from .program import Program

SOURCE = pathlib.Path(_c.__file__).parent / 'source'  # the library, in the wheel


def project_files(program: Program, model: Dict[str, str], surface: str) -> Dict[str, str]:
    if not (SOURCE / 'attend.cpp').is_file():
        raise ExportError(f'the package has no {SOURCE}: it is not complete; make it by `make package`, or install the wheel')
    name = program.name
    sketch = {f'arduino/{name}/{each}': text for each, text in model.items()}
    begin, parts = (SKETCH_BEGIN_C, OF_C) if surface == 'c' else (SKETCH_BEGIN, OF_CPP)
    makefile = MAKEFILE
    for word, text in parts.items():
        makefile = makefile.replace(word, text)
    library = {f'attend/{each}': (SOURCE / each).read_text() for each in ('attend.h', 'attend_c.h', 'layers.h', 'linear_attention.h', 'attend.cpp')}
    return {**library, **sketch, f'arduino/{name}/{name}.ino': (begin + SKETCH).replace('NAME', name), 'Makefile': makefile.replace('NAME', name)}


MAKEFILE = '''# make         the model and the library as build/libNAME.a
# make test    the self-test on this computer: every step has the bits that the exporting computer had
BEGINCXX ?= c++
FLAGS ?= -O2
OPTIONS = OPTIONS_OF_ALL
AR ?= ar

build/libNAME.a: build/model.o build/attend.o
\trm -f $@
\t$(AR) rcs $@ $^

RULES
.PHONY: test clean
test: build/self_test
\t./build/self_test
clean:
\trm -rf build
'''

OF_CPP = {
    'BEGIN': '''# CXX= and FLAGS= choose the compiler and its options, for a processor too: make CXX=arm-none-eabi-g++ FLAGS='-mcpu=cortex-m4 -mfloat-abi=hard -Os'
''',
    'OPTIONS_OF_ALL': '-std=c++17 -ffp-contract=off -ffunction-sections -fdata-sections -fno-exceptions -fno-rtti $(FLAGS)',
    'RULES': '''build/model.o: model.cpp model.h attend/attend.h
\tmkdir -p build
\t$(CXX) $(OPTIONS) -c $< -o $@
build/attend.o: attend/attend.cpp attend/attend.h
\tmkdir -p build
\t$(CXX) $(OPTIONS) -c $< -o $@
build/self_test: self_test.cpp build/libNAME.a
\t$(CXX) $(OPTIONS) -DATTEND_SELF_TEST_MAIN $^ -o $@
'''}

OF_C = {
    'BEGIN': '''# The model is C99, which CC compiles, the library C++, which CXX compiles and links; FLAGS= are the options of both, for a processor too:
# make CC=arm-none-eabi-gcc CXX=arm-none-eabi-g++ FLAGS='-mcpu=cortex-m4 -mfloat-abi=hard -Os'
CC ?= cc
''',
    'OPTIONS_OF_ALL': '-ffp-contract=off -ffunction-sections -fdata-sections $(FLAGS)',
    'RULES': '''build/model.o: model.c model.h attend/attend_c.h
\tmkdir -p build
\t$(CC) -std=c99 $(OPTIONS) -c $< -o $@
build/self_test.o: self_test.c model.h attend/attend_c.h
\tmkdir -p build
\t$(CC) -std=c99 $(OPTIONS) -DATTEND_SELF_TEST_MAIN -c $< -o $@
build/attend.o: attend/attend.cpp attend/attend.h
\tmkdir -p build
\t$(CXX) -std=c++17 -fno-exceptions -fno-rtti $(OPTIONS) -c $< -o $@
build/self_test: build/self_test.o build/libNAME.a
\t$(CXX) $(OPTIONS) $^ -o $@
'''}

SKETCH_BEGIN = '''// The self-test of the model NAME on a board: put this folder where sketches are, and install the library Attend (make package).
// Arduino compiles with -Os and C++17 where the core allows it; see the library's README for older ones.
#include <Attend.h>

#include "model.h"

int NAME_self_test();
'''

SKETCH_BEGIN_C = '''// The self-test of the model NAME on a board: put this folder where sketches are, and install the library Attend (make package).
#include <attend_c.h>

#include "model.h"
'''

SKETCH = '''
void setup() {
  Serial.begin(115200);
  while (!Serial) {
  }
  const int wrong = NAME_self_test();
  if (wrong < 0) {
    Serial.println("NAME: the same bits as on the computer that exported it");
  } else {
    Serial.print("NAME: other bits from step ");
    Serial.println(wrong);
  }
}

void loop() {}
'''
