/** As much of the peers' types as we use: the types are checked where the peers are not installed, too. */

declare module '@apollo/server' {
  import type { GraphQLSchema } from 'graphql';
  export class ApolloServer<Context> {
    constructor(options: { schema: GraphQLSchema; introspection?: boolean });
    protected readonly context?: Context;
  }
}

declare module '@apollo/server/standalone' {
  import type { IncomingMessage } from 'node:http';
  import type { ApolloServer } from '@apollo/server';
  export function startStandaloneServer<Context>(
    server: ApolloServer<Context>,
    options: {
      context: (arguments_: { req: IncomingMessage }) => Promise<Context>;
      listen: { host: string; port: number };
    },
  ): Promise<{ url: string }>;
}

declare module 'postgraphile' {
  import type { Server } from 'node:http';
  export interface Preset {
    readonly extends: readonly unknown[];
    readonly pgServices: readonly unknown[];
    readonly grafserv?: Readonly<Record<string, unknown>>;
    readonly grafast?: Readonly<Record<string, unknown>>;
  }
  export function postgraphile(preset: Preset): {
    createServ(grafserv: unknown): { addTo(server: Server): Promise<void> };
  };
}

declare module 'postgraphile/presets/amber' {
  export const PostGraphileAmberPreset: unknown;
}

declare module 'postgraphile/adaptors/pg' {
  export function makePgService(options: {
    connectionString: string;
    schemas: readonly string[];
    max?: number;
  }): unknown;
}

declare module 'postgraphile/grafserv/node' {
  export const grafserv: unknown;
}
