/* The same floor as `make floor` measures against. */
#include "../../../Tests/Floor/CFloor/floor.c"
