enum ConnectionCommand: Sendable {
  case ping, echo, hello, auth, acl, select, client, command, info, config, time, reset, quit, dbsize, flushall
  case multi, exec, discard, watch, unwatch
  case subscribe, unsubscribe, psubscribe, punsubscribe, publish, pubsub
  case save, bgsave, lastsave, shutdown, wait, waitaof, function
}
