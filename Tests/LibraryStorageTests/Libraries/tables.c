/* The small engine with something wrong in its table: TABLE_DEFECT is a statement that changes `tiny_engine`. */
#define TINY_BROKEN
#include "tiny.c"

#ifdef UNRESOLVED
extern int nobody_defines_this(void);
#endif

#ifndef NO_ENTRY
const cachectl_engine *cachectl_plugin(uint32_t abi) {
  cachectl_engine *engine = &tiny_engine;
  cachectl_option *option = &tiny_options[0];
  (void)abi, (void)option;
#ifdef UNRESOLVED
  engine->reads_wait = (uint32_t)nobody_defines_this();
#endif
  TABLE_DEFECT;
  return engine;
}
#endif
