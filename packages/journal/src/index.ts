export * from './event.ts';
export * from './step.ts';
export * from './store.ts';
