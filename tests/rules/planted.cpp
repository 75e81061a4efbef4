// For each check of a guideline that is followed, a mistake that it must find: rules.py fails where it finds none. Nothing links this.
// clang-format off
#if 0  // for expressions over the text
#planted
#include PLANTED
#include <it's>
#include <vector>
L"wide", "\x1g", 010, 1l, typeid(x), va_list
#endif
#define OR(a, b) (defined(a) || defined(b))
#if OR(A, B)
#endif
#define FIRST(a, b) a
/* a comment /* within */
extern int any_size[];
extern "C" [[noreturn]] void abort();
struct __Reserved { int bits : 3, ***deep; void run(int first); };
union Either { int a; float b; }; enum Twice { first, second = 0 };
struct Base { virtual void go(); void stay(); };
struct Derived : virtual Base { void stay(); int x; private: int y = 0; };
struct Operators {
  bool operator&&(int); int operator+(int); int* data;
  Operators& operator=(const Operators& other) { delete data; data = new int(*other.data); return *this; }
};
struct Assigned { void operator=(const Assigned&); };
namespace { static int twice_static() { return 1; } } static int unused() { return twice_static(); }
[[deprecated]] int old();
int mutable_global, *escaped;
[[noreturn]] void returns() {}
int no_value() {} int* address() { int local = 1; return &local; }
void stored() { int local = 1; escaped = &local; }
void __Reserved::run(int second) { (void)second; }
long difference() { int a[2] = {}, b[2] = {}; return a - b; }
int main(int argument, char** unused_parameter) {
  static int kept; int unused_variable = 0; typedef int unused_type; volatile int seen = 0; int empty, i = 0, *null = 0; const char* text = "\q ??="; unsigned u = 0xffffffff; int dead = 0;
  Either vexing(); dead = 3; i = i++ + i++; i + 1; old();
  struct Range { int* begin(); int* end(); Range again(); } range;
  for (int x : range.again().again()) i += x;
  if (i == empty && i++) goto end;
  i += FIRST(1,
#if 1
#endif
  2);
  if (i == 7) throw 1; else if (i == 8) abort();
  end: return int(-u) + +i + int(reinterpret_cast<long long>(text)) + int(*null) + reinterpret_cast<int (*)()>(&unused)() + reinterpret_cast<long (*)()>(&unused)() + seen + kept + argument;
  i = 2;
}
