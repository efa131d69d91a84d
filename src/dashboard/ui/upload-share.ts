import type { UploadProgress } from '../../client/client.ts';

/** The share of a file that is uploaded, 0 to 1. */
export const shareOf = ({ sentBytes, totalBytes }: UploadProgress): number => (totalBytes ? sentBytes / totalBytes : 0);
