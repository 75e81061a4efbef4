// Every operation that the adapter takes, in every form, as a graph of one node: beside float64, and as bits.
//   forms GGML_LIBRARY ADAPTER
// Prints what is wrong, how many forms there are, and the digest of all outputs.
#include "forms.h"

using namespace forms;

int main(int argument_count, char** arguments) {
  if (argument_count != 3) nodes::fail("expected GGML_LIBRARY ADAPTER");
  Forms all(arguments[1], arguments[2]);
  products(all);
  attention(all);
  rows(all);
  rotary(all);
  functions(all);
  copies(all);
  refused(all);
  std::printf("forms\t%d\twrong\t%d\ndigest\t%016llx\n", all.count, all.wrong, static_cast<unsigned long long>(all.digest));
  return all.wrong == 0 ? 0 : 1;
}
