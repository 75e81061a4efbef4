// What the parts of the check share.
#pragma once

#include <string>

#include "problem.h"

namespace distributed {

extern int rank, ranks;

// A case, which counts as passed where it is good on every rank.
void count(bool here, const std::string& what);

void check_what_goes_wrong();

// Never returns where there are two ranks or more.
int check_death(const char* how);

}  // namespace distributed
