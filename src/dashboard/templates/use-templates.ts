import { useDeferredValue } from 'react';
import { useQuery } from 'urql';
import {
  ChoosableTemplatesDocument,
  type ChoosableTemplatesQuery,
  type TemplateFilter,
} from '../documents.generated.ts';

/** With what its form needs. */
export type Template = NonNullable<ChoosableTemplatesQuery['templates']>['nodes'][number];

interface Templates {
  /** Matching templates and the selected one; undefined while loading. */
  readonly templates: readonly Template[] | undefined;
  /** There are more than one answer has: they are found by a search. */
  readonly hasMore: boolean;
}

export const APPROVED: TemplateFilter = { status: { eq: 'APPROVED' } };

/** Codes are sent as one-time passwords only. */
export const SENDABLE: TemplateFilter = { ...APPROVED, category: { ne: 'AUTHENTICATION' } };

const uniqueOf = (templates: readonly Template[]): Template[] => [
  ...new Map(templates.map(template => [template.id, template])).values(),
];

/** Templates to choose from. @param chosenName of a template that is offered whatever the search is */
export function useTemplates(filter: TemplateFilter, search: string, chosenName: string | undefined): Templates {
  const text = useDeferredValue(search);
  const [found] = useQuery({
    query: ChoosableTemplatesDocument,
    variables: { search: text || undefined, filter },
    requestPolicy: 'cache-and-network',
  });
  const [chosen] = useQuery({
    query: ChoosableTemplatesDocument,
    variables: { filter: { ...filter, name: { eq: chosenName ?? '' } } },
    pause: chosenName === undefined,
  });
  const [first, others] = [chosenName === undefined ? [] : chosen.data?.templates?.nodes, found.data?.templates?.nodes];
  return {
    // While a search is read, what is chosen stays.
    templates: first && (others || text !== '') ? uniqueOf([...first, ...(others ?? [])]) : undefined,
    hasMore: found.data?.templates?.pageInfo.hasNextPage ?? false,
  };
}
