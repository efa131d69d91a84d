import { FieldErrorList } from '../../../../core/errors.ts';
import type { Maybe } from '../../../../core/maybe.ts';
import type { JsonObject } from '../../../../platform/json.ts';
import { isLonger } from '../../../../platform/text.ts';

/** Limits of interactive messages in characters and counts (cloud-api/limits.json). */
export const LIMITS = {
  body: 1_024,
  listBody: 4_096,
  header: 60,
  footer: 60,
  buttons: 3,
  buttonId: 256,
  buttonTitle: 20,
  listButton: 20,
  sections: 10,
  rows: 10,
  sectionTitle: 24,
  rowId: 200,
  rowTitle: 24,
  rowDescription: 72,
  linkText: 20,
  link: 2_000,
} as const;

export interface ReplyButton {
  readonly id: string;
  readonly title: string;
}

export interface ListMessage {
  /** The button that opens the list. */
  readonly button: string;
  readonly sections: readonly {
    readonly title?: Maybe<string>;
    readonly rows: readonly { readonly id: string; readonly title: string; readonly description?: Maybe<string> }[];
  }[];
}

export interface LinkButton {
  readonly displayText: string;
  readonly url: string;
}

/** The choices of a message: exactly one of these. */
export interface Choices {
  readonly buttons?: Maybe<readonly ReplyButton[]>;
  readonly list?: Maybe<ListMessage>;
  readonly ctaUrl?: Maybe<LinkButton>;
}

/** A text with choices. */
export interface InteractiveText extends Choices {
  readonly body: string;
  readonly header?: Maybe<string>;
  readonly footer?: Maybe<string>;
}

interface GivenChoice {
  readonly replyId: string;
  readonly title: string;
}

/** Choices as inputs of GraphQL name them, where an `id` is only that of a Node. */
export interface GivenChoices {
  readonly buttons?: Maybe<readonly GivenChoice[]>;
  readonly list?: Maybe<{
    readonly button: string;
    readonly sections: readonly {
      readonly title?: Maybe<string>;
      readonly rows: readonly (GivenChoice & { readonly description?: Maybe<string> })[];
    }[];
  }>;
  readonly ctaUrl?: Maybe<LinkButton>;
}

/** The content with its choices as they are stored and sent. */
export function withChoices<Given extends GivenChoices>(given: Given): Omit<Given, keyof GivenChoices> & Choices {
  const { buttons, list, ctaUrl, ...others } = given;
  const choiceOf = <Row extends GivenChoice>({ replyId, ...row }: Row) => ({ id: replyId, ...row });
  return {
    ...others,
    ...(buttons && { buttons: buttons.map(choiceOf) }),
    ...(list && {
      list: { ...list, sections: list.sections.map(section => ({ ...section, rows: section.rows.map(choiceOf) })) },
    }),
    ...(ctaUrl && { ctaUrl }),
  };
}

/** The path of a choice's identifier in inputs: `buttons.0.replyId`. */
export const choicePath = (field: string): string => field.replace(/(\.\d+)\.id$/, '$1.replyId');

export type InteractiveType = 'button' | 'list' | 'cta_url';

/** The network's interactive type, and its `action`. */
export interface Action {
  readonly type: InteractiveType;
  readonly action: JsonObject;
}

/**
 * Validates choices against the network's limits and converts them to its format.
 * @throws VALIDATION_ERROR with all errors by field, such as `list.sections.0.rows.2.title`
 */
export function actionOf(choices: Choices): Action {
  const errors = new FieldErrorList();
  const given = (['buttons', 'list', 'ctaUrl'] as const).filter(name => choices[name] != null);
  if (given.length !== 1)
    errors.add(
      given[1] ?? 'buttons',
      'Exactly one of buttons, list and ctaUrl makes a message interactive.',
      given[1] ? 'SURPLUS' : 'REQUIRED',
    );
  const check = new Check(errors);
  if (choices.buttons) check.buttons(choices.buttons);
  if (choices.list) check.list(choices.list);
  if (choices.ctaUrl) check.link(choices.ctaUrl);
  errors.throwIfAny();
  return written(choices);
}

function written({ buttons, list, ctaUrl }: Choices): Action {
  if (buttons) return { type: 'button', action: { buttons: buttons.map(reply => ({ type: 'reply', reply })) } };
  if (list) {
    const sections = list.sections.map(({ title, rows }) => ({
      ...(title && { title }),
      rows: rows.map(({ id, title, description }) => ({ id, title, ...(description && { description }) })),
    }));
    return { type: 'list', action: { button: list.button, sections } };
  }
  const parameters = { display_text: ctaUrl?.displayText, url: ctaUrl?.url };
  return { type: 'cta_url', action: { name: 'cta_url', parameters } };
}

class Check {
  readonly #errors: FieldErrorList;

  constructor(errors: FieldErrorList) {
    this.#errors = errors;
  }

  buttons(buttons: readonly ReplyButton[]): void {
    this.#count('buttons', buttons.length, LIMITS.buttons);
    for (const [index, { id, title }] of buttons.entries()) {
      this.#text(`buttons.${index}.id`, id, LIMITS.buttonId);
      this.#text(`buttons.${index}.title`, title, LIMITS.buttonTitle);
    }
    this.#unique(buttons.map(({ id }, index) => [`buttons.${index}.id`, id]));
    this.#unique(buttons.map(({ title }, index) => [`buttons.${index}.title`, title]));
  }

  list({ button, sections }: ListMessage): void {
    this.#text('list.button', button, LIMITS.listButton);
    this.#count('list.sections', sections.length, LIMITS.sections);
    const ids: [string, string][] = [];
    for (const [index, { title, rows }] of sections.entries()) {
      const path = `list.sections.${index}`;
      // The network requires titles only with several sections.
      if (sections.length > 1 || title) this.#text(`${path}.title`, title ?? '', LIMITS.sectionTitle);
      if (rows.length === 0) this.#errors.add(`${path}.rows`, 'Needs at least one.', 'REQUIRED');
      for (const [place, row] of rows.entries()) {
        this.#text(`${path}.rows.${place}.id`, row.id, LIMITS.rowId);
        this.#text(`${path}.rows.${place}.title`, row.title, LIMITS.rowTitle);
        if (row.description) this.#text(`${path}.rows.${place}.description`, row.description, LIMITS.rowDescription);
        ids.push([`${path}.rows.${place}.id`, row.id]);
      }
    }
    if (ids.length > LIMITS.rows)
      this.#errors.add(
        'list.sections',
        `May have at most ${LIMITS.rows} rows in all, and has ${ids.length}.`,
        'TOO_MANY',
      );
    this.#unique(ids);
  }

  link({ displayText, url }: LinkButton): void {
    this.#text('ctaUrl.displayText', displayText, LIMITS.linkText);
    this.#text('ctaUrl.url', url, LIMITS.link);
    if (url !== '' && !/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
      this.#errors.add('ctaUrl.url', 'Must be an address that begins with https:// or http://.');
  }

  #text(field: string, text: string, maxLength: number): void {
    if (text.trim() === '') this.#errors.add(field, 'Is required.', 'REQUIRED');
    else if (isLonger(text, maxLength))
      this.#errors.add(field, `May have at most ${maxLength} characters.`, 'TOO_LONG');
    if (text.includes('\0')) this.#errors.add(field, 'May not contain the character U+0000.');
  }

  #count(field: string, count: number, maximum: number): void {
    if (count < 1) this.#errors.add(field, 'Needs at least one.', 'REQUIRED');
    if (count > maximum) this.#errors.add(field, `May have at most ${maximum}, and has ${count}.`, 'TOO_MANY');
  }

  /** Must be unique, because the reply carries nothing else to identify the choice. */
  #unique(entries: readonly (readonly [field: string, text: string])[]): void {
    const seen = new Set<string>();
    for (const [field, text] of entries) {
      if (seen.has(text)) this.#errors.add(field, 'Is used twice.', 'TAKEN');
      seen.add(text);
    }
  }
}
