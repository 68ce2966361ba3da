#include "CStorageBenchmark.h"

// #embed is C23; clang has it in every version of the language, and says so.
#pragma clang diagnostic ignored "-Wc23-extensions"

static const uint8_t ycsb_a_json[] = {
#embed "Data/ycsb-a.json"
};

static const uint8_t ycsb_b_json[] = {
#embed "Data/ycsb-b.json"
};

static const uint8_t ycsb_c_json[] = {
#embed "Data/ycsb-c.json"
};

static const uint8_t ycsb_d_json[] = {
#embed "Data/ycsb-d.json"
};

static const uint8_t ycsb_e_json[] = {
#embed "Data/ycsb-e.json"
};

static const uint8_t ycsb_f_json[] = {
#embed "Data/ycsb-f.json"
};

static const uint8_t fill_json[] = {
#embed "Data/fill.json"
};

static const uint8_t read_json[] = {
#embed "Data/read.json"
};

static const uint8_t typed_json[] = {
#embed "Data/typed.json"
};

static const uint8_t typed_repeated_json[] = {
#embed "Data/typed-repeated.json"
};

static const uint8_t scan_json[] = {
#embed "Data/scan.json"
};

static const uint8_t expire_json[] = {
#embed "Data/expire.json"
};

static const uint8_t open_json[] = {
#embed "Data/open.json"
};

static const uint8_t articles_json[] = {
#embed "Data/articles.json"
};

typedef struct {
  const char *name;
  const uint8_t *bytes;
  size_t size;
} File;

// In the order in which they are listed.
static const File files[] = {
    {"ycsb-a", ycsb_a_json, sizeof ycsb_a_json},
    {"ycsb-b", ycsb_b_json, sizeof ycsb_b_json},
    {"ycsb-c", ycsb_c_json, sizeof ycsb_c_json},
    {"ycsb-d", ycsb_d_json, sizeof ycsb_d_json},
    {"ycsb-e", ycsb_e_json, sizeof ycsb_e_json},
    {"ycsb-f", ycsb_f_json, sizeof ycsb_f_json},
    {"fill", fill_json, sizeof fill_json},
    {"read", read_json, sizeof read_json},
    {"typed", typed_json, sizeof typed_json},
    {"typed-repeated", typed_repeated_json, sizeof typed_repeated_json},
    {"scan", scan_json, sizeof scan_json},
    {"expire", expire_json, sizeof expire_json},
    {"open", open_json, sizeof open_json},
    {"articles", articles_json, sizeof articles_json},
};

ptrdiff_t cstoragebenchmark_workload_count(void) { return sizeof files / sizeof files[0]; }

const char *cstoragebenchmark_workload_name(ptrdiff_t index) { return files[index].name; }

const uint8_t *cstoragebenchmark_workload_bytes(ptrdiff_t index) { return files[index].bytes; }

ptrdiff_t cstoragebenchmark_workload_size(ptrdiff_t index) { return (ptrdiff_t)files[index].size; }
