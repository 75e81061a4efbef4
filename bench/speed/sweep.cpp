// Our active backend against every peer over many shapes: sweep FILE [NAME] writes a line for each, or for those with that in
// their names, and says where we are slowest.
//
// Ours and a peer take turns, and what counts is the median of the ratios of neighbours, so that other load on the machine and
// changes of its clock touch both alike.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "attend/attend.h"
#include "cases.h"
#include "machine.h"
#include "peers/peers.h"

namespace {

using bench::Case;
using bench::Layout;
using bench::Peer;
using bench::Shape;

constexpr double batch_seconds = 0.0005;  // of calls between two looks at the clock
constexpr double peer_seconds = 0.1;      // for all turns with one peer
constexpr double slow_seconds = 0.1;      // of one call: such a peer has one turn
constexpr double most_operations = 6e9;   // of a shape

struct Point {
  std::string name;
  Shape shape;
  bool decode;
  double seconds = 0.0;        // of one call of ours
  std::vector<double> ratios;  // each peer's time / ours, or 0: too slow to be timed
  double worst = 0.0;          // the smallest of them
  int worst_peer = -1;
};

double median(std::vector<double> values) {
  const auto middle = values.begin() + std::ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Seconds of one call, on average over a batch. The call before it finds the caches as the other side left them.
template <class Work>
double batch(Work work, int calls) {
  work();
  const double start = bench::seconds_now();
  for (int i = 0; i < calls; ++i) work();
  return (bench::seconds_now() - start) / calls;
}

template <class Work>
int calls_for_a_batch(Work work) {
  int calls = 1;
  while (calls < (1 << 20) && batch(work, calls) * calls < batch_seconds) calls *= 2;
  return calls;
}

void measure(Point& point) {
  const Case made(point.shape, point.decode ? Layout::cache : Layout::tokens);
  const std::unique_ptr<Case> heads(point.decode ? new Case(point.shape, Layout::heads) : nullptr);
  const Case& theirs = point.decode ? *heads : made;
  made.check(point.name, nullptr);
  const auto ours = made.call(nullptr);
  const int our_calls = calls_for_a_batch(ours);
  std::vector<double> times;
  for (int i = 0; i < bench::peer_count(); ++i) {
    const Peer& peer = bench::peer(i);
    point.ratios.push_back(0.0);
    if (point.shape.queries > peer.longest) continue;
    theirs.check(point.name + " by " + peer.name, &peer);
    const auto peers = theirs.call(&peer);
    const int peer_calls = calls_for_a_batch(peers);
    std::vector<double> ratios;
    double spent = 0.0, peer_time = 0.0;
    const auto more = [&] {
      const std::size_t turns = ratios.size();
      return turns == 0 || (turns < 3 && peer_time < slow_seconds) || (turns < 31 && spent < peer_seconds);
    };
    while (more()) {
      const double our_time = batch(ours, our_calls);
      peer_time = batch(peers, peer_calls);
      spent += our_time * (our_calls + 1) + peer_time * (peer_calls + 1);
      times.push_back(our_time);
      ratios.push_back(peer_time / theirs.copies(&peer) / our_time);
    }
    point.ratios.back() = median(ratios);
    if (point.worst_peer < 0 || point.ratios.back() < point.worst) {
      point.worst = point.ratios.back();
      point.worst_peer = i;
    }
  }
  point.seconds = median(times);
}

std::vector<Point> all_points() {
  std::vector<Point> points;
  int longest = 0;  // what some peer is fast enough for
  for (int i = 0; i < bench::peer_count(); ++i) longest = std::max(longest, bench::peer(i).longest);
  const auto add = [&](bool decode, const Shape& shape) {
    if (bench::operations(shape) > most_operations || shape.queries > longest) return;
    Point point;
    point.name = (decode ? "decode/" : "prefill/") + shape.name();
    point.shape = shape;
    point.decode = decode;
    points.push_back(point);
  };
  for (const int head_dim : {8, 16, 32, 64, 128, 256}) {
    for (const int heads : {1, 8, 32}) {
      for (const bool causal : {false, true}) {
        for (const int length : {1, 4, 16, 31, 64, 128, 197, 512, 1024, 4096}) {
          if (length > 1 || !causal) add(false, {length, length, head_dim, heads, heads, causal});
        }
      }
      for (const int keys : {1, 2, 4, 8, 16, 32, 64, 100, 256, 1024, 4096}) add(true, {1, keys, head_dim, heads, heads, false});
    }
  }
  for (const int head_dim : {64, 128}) {  // 4 query heads for each key head
    for (const int keys : {16, 64, 256, 1024, 4096}) add(true, {1, keys, head_dim, 32, 8, false});
    for (const int length : {16, 128, 512}) add(false, {length, length, head_dim, 32, 8, true});
  }
  return points;
}

void write(std::FILE* file, const std::vector<Point>& points) {
  std::fprintf(file, "# case\tkind\tkeys\thead_dim\theads\toperations\tseconds");
  for (int i = 0; i < bench::peer_count(); ++i) std::fprintf(file, "\t%s", bench::peer(i).name);
  std::fprintf(file, "\tsmallest\n");
  for (const Point& point : points) {
    const Shape& shape = point.shape;
    std::fprintf(file, "%s\t%s\t%d\t%d\t%d\t%.0f\t%.4g", point.name.c_str(),
                 point.decode   ? "decode"
                 : shape.causal ? "causal"
                                : "plain",
                 shape.keys, shape.head_dim, shape.query_heads, bench::operations(shape), point.seconds);
    for (const double ratio : point.ratios) std::fprintf(file, ratio > 0.0 ? "\t%.3f" : "\t-", ratio);
    std::fprintf(file, "\t%.3f\n", point.worst);
  }
}

void summarise(std::vector<Point> points) {
  std::sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.worst < b.worst; });
  std::printf("%d shapes, backend %s; a ratio is a peer's time / ours\n", int(points.size()), attend::active_backend());
  for (std::size_t i = 0; i < std::size_t(bench::peer_count()); ++i) {
    std::vector<double> ratios;
    for (const Point& point : points) {
      if (point.ratios[i] > 0.0) ratios.push_back(point.ratios[i]);
    }
    const auto slower = std::count_if(ratios.begin(), ratios.end(), [](double ratio) { return ratio < 1.0; });
    std::printf("  %-9s median %6.2f, below 1.0 at %d of %d\n", bench::peer(int(i)).name, median(ratios), int(slower),
                int(ratios.size()));
  }
  const auto print = [](const char* before, const Point& point) {
    std::printf("%s%-34s %6.2f of %-9s %10.2f us\n", before, point.name.c_str(), point.worst,
                bench::peer(point.worst_peer).name, point.seconds * 1e6);
  };
  std::printf("the ten worst against their best peer:\n");
  for (std::size_t i = 0; i < std::min<std::size_t>(10, points.size()); ++i) print("  ", points[i]);
  const auto slower = std::count_if(points.begin(), points.end(), [](const Point& point) { return point.worst < 1.0; });
  std::printf("shapes below 1.0 against some peer: %d of %d\n", int(slower), int(points.size()));
  print("worst: ", points[0]);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    std::fprintf(stderr, "usage: sweep FILE [NAME]\n");
    return 2;
  }
  std::vector<Point> points = all_points();
  const auto is_left_out = [&](const Point& point) { return argc == 3 && point.name.find(argv[2]) == std::string::npos; };
  points.erase(std::remove_if(points.begin(), points.end(), is_left_out), points.end());
  if (points.empty()) {
    std::fprintf(stderr,
                 "sweep: no shape has %s in its name; there are prefill/q4_k4_d64_h8_causal, decode/q1_k2_d128_h1 and others\n",
                 argv[2]);
    return 2;
  }
  try {
    for (std::size_t i = 0; i < points.size(); ++i) {
      if (isatty(2) || i % 25 == 0) {
        std::fprintf(stderr, "%s  %3d of %d: %-50s%s", isatty(2) ? "\r" : "", int(i + 1), int(points.size()),
                     points[i].name.c_str(), isatty(2) ? "" : "\n");
      }
      try {
        measure(points[i]);
      } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "\nsweep: %s is left out: not enough memory\n", points[i].name.c_str());
      }
    }
  } catch (const std::exception& error) {  // a wrong output
    std::fprintf(stderr, "\nsweep: %s\n", error.what());
    return 1;
  }
  if (isatty(2)) std::fputs("\n", stderr);
  points.erase(std::remove_if(points.begin(), points.end(), [](const Point& point) { return point.worst_peer < 0; }),
               points.end());
  if (points.empty()) return 1;
  std::FILE* file = std::fopen(argv[1], "w");
  if (!file) {
    std::fprintf(stderr, "sweep: cannot write %s\n", argv[1]);
    return 1;
  }
  write(file, points);
  std::fclose(file);
  summarise(points);
}
