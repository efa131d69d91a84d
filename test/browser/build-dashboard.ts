import { execFileSync } from 'node:child_process';

/** The page is tested as it is served: built from the sources of this checkout. */
export function setup(): void {
  execFileSync(process.execPath, ['src/dashboard/build.js'], {
    stdio: 'inherit',
    env: { ...process.env, NODE_ENV: 'production' },
  });
}
