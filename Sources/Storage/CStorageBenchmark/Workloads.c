#include "CStorageBenchmark.h"

// #embed is C23; clang has it in every version of the language, and says so.
#pragma clang diagnostic ignored "-Wc23-extensions"

typedef struct {
  const char *name;
  // The file, and a zero at its end.
  const char *text;
} File;

// In the order in which they are listed.
static const File files[] = {
    {"ycsb-a", (const char[]){
#embed "Data/ycsb-a.json" suffix(, 0)
    }},
    {"ycsb-b", (const char[]){
#embed "Data/ycsb-b.json" suffix(, 0)
    }},
    {"ycsb-c", (const char[]){
#embed "Data/ycsb-c.json" suffix(, 0)
    }},
    {"ycsb-d", (const char[]){
#embed "Data/ycsb-d.json" suffix(, 0)
    }},
    {"ycsb-e", (const char[]){
#embed "Data/ycsb-e.json" suffix(, 0)
    }},
    {"ycsb-f", (const char[]){
#embed "Data/ycsb-f.json" suffix(, 0)
    }},
    {"fill", (const char[]){
#embed "Data/fill.json" suffix(, 0)
    }},
    {"read", (const char[]){
#embed "Data/read.json" suffix(, 0)
    }},
    {"typed", (const char[]){
#embed "Data/typed.json" suffix(, 0)
    }},
    {"typed-repeated", (const char[]){
#embed "Data/typed-repeated.json" suffix(, 0)
    }},
    {"full", (const char[]){
#embed "Data/full.json" suffix(, 0)
    }},
    {"scan", (const char[]){
#embed "Data/scan.json" suffix(, 0)
    }},
    {"expire", (const char[]){
#embed "Data/expire.json" suffix(, 0)
    }},
    {"open", (const char[]){
#embed "Data/open.json" suffix(, 0)
    }},
    {"articles", (const char[]){
#embed "Data/articles.json" suffix(, 0)
    }},
};

ptrdiff_t cstoragebenchmark_workload_count(void) { return sizeof files / sizeof files[0]; }

const char *cstoragebenchmark_workload_name(ptrdiff_t index) { return files[index].name; }

const char *cstoragebenchmark_workload_text(ptrdiff_t index) { return files[index].text; }
