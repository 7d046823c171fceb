/**
 * Redis runs a script atomically. `KEYS` are the hash of the sums of a minute, and the hash of what each process has added to it. `ARGV` is
 * the process, all of its counts of that minute as a JSON object, and the seconds until the keys expire. The script adds the difference to
 * what the process has added before, so a process may send the same counts again.
 */
export const PUBLISH_SCRIPT = `
local known = redis.call('HGET', KEYS[2], ARGV[1])
local before = known and cjson.decode(known) or {}
for name, amount in pairs(cjson.decode(ARGV[2])) do
  local added = amount - (before[name] or 0)
  if added ~= 0 then redis.call('HINCRBYFLOAT', KEYS[1], name, tostring(added)) end
end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
redis.call('EXPIRE', KEYS[2], ARGV[3])
return 1
`;

/**
 * `KEYS[1]` is the sorted set of processes by the time of their last heartbeat. `ARGV` is the process, and the seconds after which a process
 * without a heartbeat is removed. Times are those of Redis, because the clocks of instances differ. Returns 1 if the process was not in the set.
 */
export const HEARTBEAT_SCRIPT = `
local now = tonumber(redis.call('TIME')[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
local added = redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return added
`;
