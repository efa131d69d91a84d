import type { JsonSchema } from './shape.ts';

export type ComponentKind = 'schemas' | 'responses' | 'headers' | 'parameters';

/** What several operations share, under one name each. */
export class Components {
  readonly #kinds = new Map<ComponentKind, Map<string, JsonSchema>>();

  /** @returns the reference. @throws when the name stands for something else already */
  add(kind: ComponentKind, name: string, component: JsonSchema): JsonSchema {
    const components = this.#kinds.get(kind) ?? new Map<string, JsonSchema>();
    this.#kinds.set(kind, components);
    const known = components.get(name);
    if (known && JSON.stringify(known) !== JSON.stringify(component))
      throw new Error(`Two different ${kind} are called ${name}.`);
    components.set(name, component);
    return { $ref: `#/components/${kind}/${name}` };
  }

  toJSON(): JsonSchema {
    return Object.fromEntries(
      [...this.#kinds].map(([kind, components]) => [kind, Object.fromEntries([...components].sort())] as const),
    );
  }
}
