/** A name of the API as words: `contact_group` and `contactGroup` are "contact group". */
export const words = (name: string): string =>
  name
    .replaceAll('_', ' ')
    .replaceAll(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`)
    .trim();
