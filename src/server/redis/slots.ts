/** The number of slots of a cluster; see https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/. */
const SLOTS = 16_384;

/** CRC-16/XMODEM, as the specification has it: polynomial 0x1021, initial value 0. */
const CRC16_TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});

/** Returns the slot of a key: the hash of the text between the first `{` and the next `}`, or of the whole key. */
export function slotOf(key: string): number {
  const start = key.indexOf("{");
  const end = start < 0 ? -1 : key.indexOf("}", start + 1);
  const hashed = end > start + 1 ? key.slice(start + 1, end) : key;
  let crc = 0;
  for (const byte of Buffer.from(hashed)) crc = ((crc << 8) & 0xffff) ^ (CRC16_TABLE[(crc >> 8) ^ byte] as number);
  return crc % SLOTS;
}
