#!/bin/sh
# Which files a run is of: one hash of all that builds and tests read, from the project's top folder.
find Makefile README.md LICENSE .ci .github src include tests bench -type f ! -name '*.pyc' | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -d ' ' -f 1
