import { readFile } from 'node:fs/promises';
import type { Locator } from 'playwright-core';

/** Drops files of `media/` on an element. @param names their types by name */
export async function dropFiles(target: Locator, names: Readonly<Record<string, string>>): Promise<void> {
  const files = await Promise.all(
    Object.entries(names).map(async ([name, type]) => ({
      name,
      type,
      base64: (await readFile(`test/browser/media/${name}`)).toString('base64'),
    })),
  );
  const dataTransfer = await target.page().evaluateHandle(all => {
    const transfer = new DataTransfer();
    for (const { name, type, base64 } of all)
      transfer.items.add(new File([Uint8Array.from(atob(base64), letter => letter.charCodeAt(0))], name, { type }));
    return transfer;
  }, files);
  await target.dispatchEvent('dragover', { dataTransfer });
  await target.dispatchEvent('drop', { dataTransfer });
}

/** Plays it to its end. @returns its length in seconds */
export const play = (player: Locator): Promise<number> =>
  player.evaluate(async element => {
    const media = element as HTMLMediaElement;
    media.muted = true;
    await media.play();
    if (!media.ended) await new Promise(resolve => media.addEventListener('ended', resolve, { once: true }));
    return media.duration;
  });
