import { createRequire } from 'node:module';
import type protobuf from 'protobufjs';

/**
 * Messages of OTLP that all signals have, by their field numbers. Each signal adds its own with `otlpTypes`. Entries that occur in
 * large numbers (spans, log records) are declared as bytes: they are encoded before, which is the same on the wire.
 */
const common = `
syntax = "proto3";
package otlp;

message AnyValue {
  oneof value {
    string string_value = 1;
    bool bool_value = 2;
    int64 int_value = 3;
    double double_value = 4;
    ArrayValue array_value = 5;
    KeyValueList kvlist_value = 6;
  }
}
message ArrayValue { repeated AnyValue values = 1; }
message KeyValueList { repeated KeyValue values = 1; }
message KeyValue { string key = 1; AnyValue value = 2; }
message Scope { string name = 1; string version = 2; }
message Resource { repeated KeyValue attributes = 1; }
`;

/** Messages by name. Parsed on first use: every worker loads this module, and few send anything. */
export interface OtlpTypes {
  /** @internal */
  type(name: string): protobuf.Type;
}

let root: protobuf.Root | null = null;
/** Definitions that are not parsed yet. */
let unread = [common];

const types: OtlpTypes = {
  type(name) {
    // Otherwise every start of the gateway would pay for it, on each thread.
    const { parse, Root } = createRequire(import.meta.url)('protobufjs') as typeof protobuf;
    root ??= new Root();
    const texts = unread;
    unread = [];
    for (const text of texts) parse(text, root);
    return root.lookupType(`otlp.${name}`);
  },
};

/** Adds the messages of a signal (text of a .proto file without its head) to the common ones. */
export function otlpTypes(text: string): OtlpTypes {
  unread.push(`syntax = "proto3"; package otlp; ${text}`);
  return types;
}

/** Encodes a message of a type that `otlpTypes` has added. Numbers of 64 bits are `Bits64`, or numbers below 2^53. */
export function otlpEncoder<T extends object>(types: OtlpTypes, name: string): (message: T) => Uint8Array {
  let type: protobuf.Type | null = null;
  return (message) => {
    type ??= types.type(name);
    // A copy in memory of its own. Node takes small buffers from slabs of 64 KiB, and a span in a queue would hold its whole slab.
    return new Uint8Array(type.encode(message).finish(true));
  };
}

/** A number of 64 bits as protobufjs takes it. */
export interface Bits64 {
  readonly low: number;
  readonly high: number;
  readonly unsigned: boolean;
}

/** Nanoseconds of a time in milliseconds since the epoch, exact to a microsecond. */
export function nanoseconds(milliseconds: number): Bits64 {
  // Beyond 2^53 a double would lose some; a second has less than 2^32 nanoseconds.
  const micros = Math.round(milliseconds * 1000);
  const upper = Math.floor(micros / 0x1_0000);
  const lower = micros - upper * 0x1_0000;
  const low = lower * 1000;
  // upper * 2^16 * 1000 + low, in two halves of 32 bits.
  const middle = (upper % 0x1_0000) * 1000 * 0x1_0000 + low;
  const high = Math.floor(upper / 0x1_0000) * 1000 + Math.floor(middle / 0x1_0000_0000);
  return { low: (middle % 0x1_0000_0000) | 0, high: high | 0, unsigned: true };
}
