/** A variable that the benchmark sets for the servers it starts. */
export function environment(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '')
    throw new Error(`${name} is not set: this module is started by the benchmark.`);
  return value;
}
