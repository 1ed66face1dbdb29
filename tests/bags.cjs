// bags.cjs: MCAP and CDR by @mcap/core and @foxglove/rosmsg2-serialization, for check_bags.
//     node bags.cjs list FILE                    a line a topic: JSON with type, count, first, last
//     node bags.cjs read FILE TOPIC              a line a message: JSON with log and message
//     node bags.cjs write CONTENT FILE CODEC CHUNK ENCODING [OPTIONS]   CODEC none, lz4, zstd; CHUNK bytes, 0: none;
//                                                ros2msg, ros2idl; OPTIONS of the writer as JSON
//     node bags.cjs cdr CONTENT                  a line a message: base64 of its CDR
//     node bags.cjs decode TYPES                 lines "type base64" to lines of JSON
// CONTENT: {types: {name: {ros2msg, ros2idl}}, messages: [{topic, type, log, message}]}
"use strict";
const fs = require("fs");
const { execFileSync } = require("child_process");
const { McapIndexedReader, McapStreamReader, McapWriter } = require("@mcap/core");
const { loadDecompressHandlers } = require("@mcap/support");
const { MessageReader, MessageWriter } = require("@foxglove/rosmsg2-serialization");
const { parse } = require("@foxglove/rosmsg");
const { parseRos2idl } = require("@foxglove/ros2idl-parser");

const plain = (key, value) =>
  typeof value === "bigint" ? value.toString() : ArrayBuffer.isView(value) ? Array.from(value) : value;
const say = (object) => process.stdout.write(JSON.stringify(object, plain) + "\n");
const parseType = (encoding, text) => (encoding === "ros2idl" ? parseRos2idl(text) : parse(text, { ros2: true }));

async function openMcap(file) {
  const bytes = fs.readFileSync(file);
  const readable = {
    size: async () => BigInt(bytes.length),
    read: async (offset, length) => new Uint8Array(bytes.subarray(Number(offset), Number(offset + length))),
  };
  return McapIndexedReader.Initialize({ readable, decompressHandlers: await loadDecompressHandlers() });
}

async function list(file) {
  const reader = await openMcap(file);
  const topics = new Map();
  for await (const m of reader.readMessages()) {
    const channel = reader.channelsById.get(m.channelId);
    const row = topics.get(channel.topic) ?? {
      name: channel.topic,
      type: reader.schemasById.get(channel.schemaId).name,
      count: 0,
      first: m.logTime,
      last: m.logTime,
    };
    row.count++;
    if (m.logTime < row.first) row.first = m.logTime;
    if (m.logTime > row.last) row.last = m.logTime;
    topics.set(channel.topic, row);
  }
  for (const row of topics.values()) say(row);
}

async function read(file, topic) {
  const reader = await openMcap(file);
  const decoders = new Map();
  for await (const m of reader.readMessages({ topics: [topic] })) {
    if (!decoders.has(m.channelId)) {
      const schema = reader.schemasById.get(reader.channelsById.get(m.channelId).schemaId);
      decoders.set(m.channelId, new MessageReader(parseType(schema.encoding, new TextDecoder().decode(schema.data))));
    }
    say({ log: m.logTime, message: decoders.get(m.channelId).readMessage(m.data) });
  }
}

const load = (file) => JSON.parse(fs.readFileSync(file, "utf8"));

function* encode(content) {
  const writers = {};
  for (const [name, type] of Object.entries(content.types)) writers[name] = new MessageWriter(parse(type.ros2msg, { ros2: true }));
  for (const m of content.messages) yield [m, writers[m.type].writeMessage(m.message)];
}

async function compressor(codec) {
  if (codec === "none") return undefined;
  if (codec === "zstd") {
    const zstd = require("@foxglove/wasm-zstd");
    await zstd.isLoaded;
    return (data) => ({ compression: "zstd", compressedData: new Uint8Array(zstd.compress(data)) });
  }
  const python = "import sys, roslz4; c = roslz4.LZ4Compressor(); d = sys.stdin.buffer.read(); sys.stdout.buffer.write(c.compress(d) + c.flush())";
  return (data) => ({
    compression: "lz4",
    compressedData: new Uint8Array(execFileSync(process.env.ROS_PYTHON || "python3", ["-c", python], { input: data, maxBuffer: 1 << 28 })),
  });
}

async function write(file, out, codec, chunk, encoding, options) {
  const content = load(file);
  const fd = fs.openSync(out, "w");
  let at = 0n;
  const writable = {
    position: () => at,
    write: async (bytes) => {
      fs.writeSync(fd, bytes);
      at += BigInt(bytes.byteLength);
    },
  };
  const writer = new McapWriter({
    writable,
    useChunks: Number(chunk) > 0,
    chunkSize: Number(chunk),
    compressChunk: await compressor(codec),
    ...JSON.parse(options ?? "{}"),
  });
  await writer.start({ profile: "ros2", library: "" });
  const channels = {};
  let sequence = 0;
  for (const [m, data] of encode(content)) {
    if (!(m.topic in channels)) {
      const schemaId = await writer.registerSchema({
        name: m.type,
        encoding,
        data: new TextEncoder().encode(content.types[m.type][encoding]),
      });
      channels[m.topic] = await writer.registerChannel({
        schemaId,
        topic: m.topic,
        messageEncoding: "cdr",
        metadata: new Map([["offered_qos_profiles", ""]]),
      });
    }
    const logTime = BigInt(m.log);
    await writer.addMessage({ channelId: channels[m.topic], sequence: sequence++, logTime, publishTime: logTime, data });
  }
  await writer.addMetadata({ name: "note", metadata: new Map([["a", "b"]]) });
  await writer.end();
  fs.closeSync(fd);
}

function decode(file) {
  const types = load(file);
  const readers = {};
  for (const line of fs.readFileSync(0, "utf8").split("\n")) {
    if (!line) continue;
    const [type, data] = line.split(" ");
    readers[type] ??= new MessageReader(parse(types[type], { ros2: true }));
    say(readers[type].readMessage(new Uint8Array(Buffer.from(data, "base64"))));
  }
}

async function main([command, ...args]) {
  if (command === "list") await list(...args);
  else if (command === "read") await read(...args);
  else if (command === "write") await write(...args);
  else if (command === "cdr") for (const [, data] of encode(load(args[0]))) console.log(Buffer.from(data).toString("base64"));
  else if (command === "decode") decode(...args);
  else if (command === "check") void McapStreamReader;
  else process.exit(2);
}
main(process.argv.slice(2)).catch((error) => {
  console.error(error);
  process.exit(1);
});
