// Runs models in TensorFlow Lite as a script says: host SCRIPT. Lines of a script:
//
//   model FILE [register] [delegate] [plugin] [threads=N]   an interpreter of the model, with the adapter's operators, its
//   delegate, or the
//                                                           delegate by the interface of external ones, with [int8=N]
//   resize INPUT EXTENT...                                  of an input
//   allocate                                                which `run` does where it was not done
//   run INPUTS OUTPUTS                                      a call: inputs one behind the other in a file; outputs are added to
//   another repeat TIMES                                            the last call's time, the median of so many, in
//   microseconds
//
// What the runtime refuses is printed, with the line and that of the model: "refused LINE (MODEL): MESSAGES". Then the rest of
// the model's lines is left out.
#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "../../../bench/adapters/tflite/attend_tflite.h"

extern "C" {
// Of the interface of external delegates.
TfLiteDelegate* tflite_plugin_create_delegate(char** keys, char** values, std::size_t count, void (*report_error)(const char*));
void tflite_plugin_destroy_delegate(TfLiteDelegate* delegate);
}

namespace {

std::string messages;

void collect(void*, const char* format, va_list arguments) {
  char text[1024];
  std::vsnprintf(text, sizeof text, format, arguments);
  messages += messages.empty() ? text : std::string(" | ") + text;
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) std::fprintf(stderr, "host: %s cannot be read\n", path.c_str()), std::exit(1);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

class Session {
 public:
  ~Session() { close(); }

  bool open(std::istringstream& words) {
    close();
    std::string path, word, int8;
    words >> path;
    bytes_ = contents(path);
    // The runtime does not check a model itself.
    model_ = TfLiteModelCreate(bytes_.data(), bytes_.size());
    if (model_ == nullptr) return false;
    TfLiteInterpreterOptions* const options = TfLiteInterpreterOptionsCreate();
    TfLiteInterpreterOptionsSetErrorReporter(options, collect, nullptr);
    while (words >> word) {
      if (word == "register") attend_tflite_register(options);
      if (word == "delegate") delegate_ = attend_tflite_delegate_create();
      if (word == "plugin") plugin_ = true;
      if (word.compare(0, 5, "int8=") == 0) int8 = word.substr(5);
      if (word.compare(0, 8, "threads=") == 0) TfLiteInterpreterOptionsSetNumThreads(options, std::atoi(word.c_str() + 8));
    }
    if (plugin_) {
      char name[] = "int8";
      char *keys[] = {name}, *values[] = {&int8[0]};
      delegate_ =
          tflite_plugin_create_delegate(keys, values, int8.empty() ? 0 : 1, [](const char* message) { messages += message; });
      if (delegate_ == nullptr) return TfLiteInterpreterOptionsDelete(options), false;
    }
    if (delegate_ != nullptr) TfLiteInterpreterOptionsAddDelegate(options, delegate_);
    interpreter_ = TfLiteInterpreterCreate(model_, options);
    TfLiteInterpreterOptionsDelete(options);
    return interpreter_ != nullptr;
  }

  bool resize(std::istringstream& words) {
    int input = 0, extent = 0;
    words >> input;
    std::vector<int> extents;
    while (words >> extent) extents.push_back(extent);
    allocated_ = false;
    return TfLiteInterpreterResizeInputTensor(interpreter_, input, extents.data(), int(extents.size())) == kTfLiteOk;
  }

  bool allocate() { return allocated_ = TfLiteInterpreterAllocateTensors(interpreter_) == kTfLiteOk; }

  bool run(std::istringstream& words) {
    if (!allocated_ && !allocate()) return false;
    std::string from, to;
    words >> from >> to;
    const std::string inputs = contents(from);
    std::size_t at = 0;
    for (int i = 0; i < TfLiteInterpreterGetInputTensorCount(interpreter_); ++i) {
      TfLiteTensor* const tensor = TfLiteInterpreterGetInputTensor(interpreter_, i);
      const std::size_t size = TfLiteTensorByteSize(tensor);
      if (size > inputs.size() - at) std::fprintf(stderr, "host: %s is too short\n", from.c_str()), std::exit(1);
      if (size > 0 && TfLiteTensorCopyFromBuffer(tensor, inputs.data() + at, size) != kTfLiteOk) return false;
      at += size;
    }
    if (at != inputs.size()) std::fprintf(stderr, "host: %s is too long\n", from.c_str()), std::exit(1);
    if (TfLiteInterpreterInvoke(interpreter_) != kTfLiteOk) return false;
    std::ofstream file(to, std::ios::binary | std::ios::app);
    for (int i = 0; i < TfLiteInterpreterGetOutputTensorCount(interpreter_); ++i) {
      const TfLiteTensor* const tensor = TfLiteInterpreterGetOutputTensor(interpreter_, i);
      file.write(static_cast<const char*>(TfLiteTensorData(tensor)), std::streamsize(TfLiteTensorByteSize(tensor)));
    }
    return bool(file);
  }

  bool repeat(std::istringstream& words) {
    int times = 1;
    words >> times;
    std::vector<double> took;
    for (int i = 0; i < times; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      if (TfLiteInterpreterInvoke(interpreter_) != kTfLiteOk) return false;
      took.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
    }
    std::sort(took.begin(), took.end());
    std::printf("time %.2f\n", took[took.size() / 2]);
    return true;
  }

 private:
  void close() {
    if (interpreter_ != nullptr) TfLiteInterpreterDelete(interpreter_);
    if (delegate_ != nullptr) (plugin_ ? tflite_plugin_destroy_delegate : attend_tflite_delegate_delete)(delegate_);
    if (model_ != nullptr) TfLiteModelDelete(model_);
    interpreter_ = nullptr, delegate_ = nullptr, model_ = nullptr, allocated_ = plugin_ = false;
  }

  std::string bytes_;
  TfLiteModel* model_ = nullptr;
  TfLiteDelegate* delegate_ = nullptr;
  bool plugin_ = false;  // it is one by that interface
  TfLiteInterpreter* interpreter_ = nullptr;
  bool allocated_ = false;
};

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return std::fputs("host: host SCRIPT\n", stderr), 2;
  std::istringstream script(contents(arguments[1]));
  Session session;
  bool refused = false;
  std::string model;
  for (std::string line; std::getline(script, line);) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    if (command == "model") refused = false, model = line;
    if (refused || command.empty()) continue;
    messages.clear();
    const bool done = command == "model"      ? session.open(words)
                      : command == "resize"   ? session.resize(words)
                      : command == "allocate" ? session.allocate()
                      : command == "run"      ? session.run(words)
                                              : command == "repeat" && session.repeat(words);
    if (done) continue;
    refused = true;
    std::printf("refused %s (%s): %s\n", line.c_str(), model.c_str(), messages.c_str());
    std::fflush(stdout);
  }
}
