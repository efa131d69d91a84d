/**
 * Returns an origin as browsers send it (`https://app.example`), from the same with a path or capitals.
 * @returns undefined if the text is not an http or https URL without user, query and path
 */
export function parseOrigin(text: string): string | undefined {
  const url = URL.parse(text.trim());
  if (!url || !/^https?:$/.test(url.protocol)) return undefined;
  return url.href === `${url.origin}/` ? url.origin : undefined;
}
