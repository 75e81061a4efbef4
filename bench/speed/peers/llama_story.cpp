// The most likely story of a GGUF file by llama.cpp's library, which `make peers` fetches: to be compared with the
// application's.
//   llama_story FOLDER MODEL TOKENS
// The library's header is not there: what is passed and returned by value are structs that the library fills in itself, and
// larger ones than it has do as well, because such structs lie in memory.
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace {

struct ByLibrary {
  alignas(16) unsigned char bytes[4096];
};

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "llama_story: %s\n", what.c_str());
  std::exit(1);
}

template <class Function>
Function* found(void* library, const char* name) {
  void* const address = dlsym(library, name);
  if (address == nullptr) fail(std::string("llama.cpp's library has no ") + name);
  return reinterpret_cast<Function*>(address);
}

void* open_library(const std::string& folder) {
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator(folder, error)) {
    if (file.path().filename().string().rfind("libllama.", 0) != 0) continue;
    if (void* const library = dlopen(file.path().c_str(), RTLD_NOW | RTLD_GLOBAL)) return library;
    fail(dlerror());
  }
  fail(folder + ": no library of llama.cpp; make peers fetches it");
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4) fail("expected FOLDER MODEL TOKENS");
  const std::string folder = arguments[1];
  void* const library = open_library(folder);
  found<void(void (*)(int, const char*, void*), void*)>(library, "llama_log_set")([](int, const char*, void*) {}, nullptr);
  found<void()>(library, "llama_backend_init")();
  // In the library beside it, which it has loaded.
  found<void(const char*)>(RTLD_DEFAULT, "ggml_backend_load_all_from_path")(folder.c_str());
  void* const model = found<void*(const char*, ByLibrary)>(library, "llama_model_load_from_file")(
      arguments[2], found<ByLibrary()>(library, "llama_model_default_params")());
  if (model == nullptr) fail(std::string(arguments[2]) + ": llama.cpp cannot load it");
  void* const context = found<void*(void*, ByLibrary)>(library, "llama_init_from_model")(
      model, found<ByLibrary()>(library, "llama_context_default_params")());
  if (context == nullptr) fail("llama.cpp has no memory for the model");
  // Threads of its own would wait for each other by spinning.
  found<void(void*, std::int32_t, std::int32_t)>(library, "llama_set_n_threads")(context, 1, 1);
  const int most = found<std::int32_t(const void*)>(library, "llama_model_n_ctx_train")(model), steps = std::atoi(arguments[3]);
  const void* const vocabulary = found<const void*(const void*)>(library, "llama_model_get_vocab")(model);
  const int pieces = found<std::int32_t(const void*)>(library, "llama_vocab_n_tokens")(vocabulary);
  const auto token_of = [&](const char* name) { return found<std::int32_t(const void*)>(library, name)(vocabulary); };
  const std::int32_t begin = token_of("llama_vocab_bos"), end = token_of("llama_vocab_eos");
  const auto batch = found<ByLibrary(std::int32_t*, std::int32_t)>(library, "llama_batch_get_one");
  const auto decode = found<std::int32_t(void*, ByLibrary)>(library, "llama_decode");
  const auto logits = found<float*(void*, std::int32_t)>(library, "llama_get_logits_ith");
  const auto piece =
      found<std::int32_t(const void*, std::int32_t, char*, std::int32_t, std::int32_t, bool)>(library, "llama_token_to_piece");

  std::string story;
  std::int32_t token = begin;
  for (int taken = 0; taken < (steps > 0 && steps < most ? steps : most); ++taken) {
    if (decode(context, batch(&token, 1)) != 0) fail("llama.cpp cannot decode");
    const float* const scores = logits(context, -1);
    token = static_cast<std::int32_t>(std::max_element(scores, scores + pieces) - scores);
    if (token == begin || token == end) break;
    char text[256];
    const std::int32_t length = piece(vocabulary, token, text, sizeof text, 0, false);
    story.append(text, static_cast<std::size_t>(std::max(length, 0)));
  }
  std::printf("%s\n", story.c_str());
}
