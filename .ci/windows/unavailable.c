/* Stands for functions that are imported and not called. */
#include <stdlib.h>

void unavailable(void)
{
    abort();
}
