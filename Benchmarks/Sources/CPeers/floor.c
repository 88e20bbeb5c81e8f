/* The same floor as `make floor` measures against. */
#include "../../../Reliability/Floor/CFloor/floor.c"
