#include "cachectl_plugin.h"

/* The layout on 64-bit systems, which no later version of the header may change: fields are appended, never moved. */
#if UINTPTR_MAX == UINT64_MAX
_Static_assert(sizeof(cachectl_failure) == 1536, "cachectl_failure");
_Static_assert(sizeof(cachectl_attribute) == 32, "cachectl_attribute");
_Static_assert(sizeof(cachectl_metadata) == 64, "cachectl_metadata");
_Static_assert(offsetof(cachectl_entry, metadata) == 40, "cachectl_entry");
_Static_assert(offsetof(cachectl_operation, entry) == 8, "cachectl_operation");
_Static_assert(offsetof(cachectl_batch, exempt) == 56, "cachectl_batch");
_Static_assert(offsetof(cachectl_range, is_descending) == 48, "cachectl_range");
_Static_assert(offsetof(cachectl_slot, payload_bytes) == 48, "cachectl_slot");
_Static_assert(offsetof(cachectl_issue, message) == 32, "cachectl_issue");
_Static_assert(offsetof(cachectl_option, default_value) == 56, "cachectl_option");
_Static_assert(offsetof(cachectl_value, number) == 16, "cachectl_value");
_Static_assert(offsetof(cachectl_configuration, clock) == 40, "cachectl_configuration");
_Static_assert(offsetof(cachectl_configuration, is_cancelled) == 48, "cachectl_configuration");
_Static_assert(offsetof(cachectl_inspection, presence) == 56, "cachectl_inspection");
_Static_assert(offsetof(cachectl_inspection, caution) == 64, "cachectl_inspection");
_Static_assert(offsetof(cachectl_engine, open) == 72, "cachectl_engine");
_Static_assert(offsetof(cachectl_engine, remove) == 152, "cachectl_engine");
_Static_assert(offsetof(cachectl_engine, change_mark) == 184, "cachectl_engine");
#endif
