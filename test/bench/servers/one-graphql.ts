import { registerHooks } from 'node:module';

/** Everybody in this process gets Parley's copy of graphql: two copies refuse each other's schemas. */
registerHooks({
  resolve(specifier, context, next) {
    const isGraphql = specifier === 'graphql' || specifier.startsWith('graphql/');
    return next(
      specifier,
      isGraphql ? { ...context, parentURL: import.meta.url.replace('/test/bench/servers/', '/src/') } : context,
    );
  },
});
