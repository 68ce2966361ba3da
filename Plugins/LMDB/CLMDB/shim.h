#include <lmdb.h>
#include <sys/stat.h>
