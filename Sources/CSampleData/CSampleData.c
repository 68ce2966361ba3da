#include "CSampleData.h"
