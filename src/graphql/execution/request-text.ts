import { hash } from 'node:crypto';
import { requestError } from '../../core/errors.ts';
import type { Principal } from '../../core/principal.ts';
import type { PublishedDocuments } from '../../features/documents/find.ts';
import type { TextCache } from '../../platform/text-cache.ts';
import { BadRequest, type GraphQLRequest } from './request.ts';

/** Sources of the documents that requests name by their digest. */
export interface DocumentSources {
  /** Cache of texts that clients have sent, for all tenants. */
  readonly texts: TextCache;
  /** Documents that a tenant has published. */
  readonly published: PublishedDocuments;
  /** Documents of this build's dashboard, for all tenants; undefined for another digest. */
  readonly dashboard: (digest: string) => Promise<string | undefined>;
}

/** A document, and whether its tenant has published it. */
export interface RequestedText {
  readonly text: string;
  readonly isPublished: boolean;
}

/**
 * Returns the document of a request. A token for trusted documents can execute only those: by `documentId`, or by the digest of a
 * persisted query, which clients with a manifest of Apollo or urql send.
 * @throws DOCUMENT_REQUIRED, DOCUMENT_NOT_FOUND; PERSISTED_QUERY_NOT_FOUND, on which clients send the text with its digest
 */
export async function textOf(
  { texts, published, dashboard }: DocumentSources,
  { query, documentHash, persistedHash }: GraphQLRequest,
  principal: Principal | undefined,
): Promise<RequestedText> {
  const documentsOnly = principal?.documentsOnly ?? false;
  if (query !== undefined) {
    if (documentsOnly)
      throw requestError('DOCUMENT_REQUIRED', 'This token executes trusted documents only: send documentId.');
    if (persistedHash !== undefined && hash('sha256', query) !== persistedHash)
      throw new BadRequest('provided sha does not match query');
    return { text: query, isPublished: false };
  }
  const digest = documentHash ?? persistedHash;
  if (principal && digest !== undefined) {
    const known = documentHash === undefined && !documentsOnly ? await texts.find(digest) : undefined;
    if (known !== undefined) return { text: known, isPublished: false };
    const text = (await dashboard(digest)) ?? (await published.find(principal.tenant.id, digest));
    if (text !== undefined) return { text, isPublished: true };
  }
  if (documentHash !== undefined)
    throw requestError('DOCUMENT_NOT_FOUND', 'No document with this documentId is published. Call publishDocuments.');
  // Apollo Client recognises this message and this code.
  throw requestError('PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound');
}
