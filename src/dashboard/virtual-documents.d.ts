declare module 'virtual:documents' {
  /** The id of each document of the page (`sha256:…`) by the name of its operation; made by the build. */
  export const DOCUMENT_IDS: Readonly<Record<string, string>>;
}
