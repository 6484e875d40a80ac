"""Arrays at given addresses, and operations on the bits of a word.

A relation has several runs. So that one compiled kernel serves any number of runs, it receives
a *table* with one row a run: (address of the keys, number of keys, address of the index, its
size). The caller keeps the arrays alive while the table is used.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import carray, njit, types
from numba.extending import intrinsic


@intrinsic
def _pointer64(typingctx: Any, address: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

    return types.CPointer(types.int64)(types.int64), codegen


@intrinsic
def _pointer32(typingctx: Any, address: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

    return types.CPointer(types.int32)(types.int64), codegen


@intrinsic
def _pointer_u64(typingctx: Any, address: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.inttoptr(args[0], context.get_value_type(signature.return_type))

    return types.CPointer(types.uint64)(types.int64), codegen


@intrinsic
def trailing_zeros(typingctx: Any, word: Any) -> Any:
    """The position of the lowest bit set in a nonzero 64-bit word."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), codegen


@intrinsic
def bit_count(typingctx: Any, word: Any) -> Any:
    """The number of bits set in a 64-bit word."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@njit(inline="always")
def run_keys(table, run):
    """The keys of a run."""
    return carray(_pointer64(table[run, 0]), (table[run, 1],))


@njit(inline="always")
def run_index(table, run):
    """The index of a run: the start of each value of the leading column. It is empty if the run has no index."""
    return carray(_pointer32(table[run, 2]), (table[run, 3],))


@njit(inline="always")
def words_at(address, size):
    """The 64-bit words at an address."""
    return carray(_pointer_u64(address), (size,))
