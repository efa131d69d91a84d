/** Loaded into every server under test before itself: tells its parent how much CPU it has used. */
process.on('message', question => {
  if (question !== 'cpu') return;
  const { user, system } = process.cpuUsage();
  process.send?.({ cpu: user + system });
});
// The channel alone must not keep a server alive.
process.channel?.unref();
