// accepts input, never answers anything, ignores SIGTERM
process.on('SIGTERM', () => {});
process.stdin.resume();
setInterval(() => {}, 1e6);
