export * from './capability.ts';
export {
  type Conformance,
  type ConformanceCheck,
  type TestPlugin,
  testPlugin,
} from './conformance/conformance.ts';
export { type RunningHarness, runningOn } from './control/running.ts';
export { type Control, serveControl } from './control/serve.ts';
export { pluginAtFault } from './host/own-process-guard.ts';
export type { BrokenPlugin, Shadowed } from './plugin/catalogue.ts';
export { checkPlugin, type Finding, type PluginCheck } from './plugin/check.ts';
export { contentDigest } from './plugin/digest.ts';
export type { PluginOrigin } from './plugin/discovery.ts';
export { type Manifest, type ManifestSource, parseManifest, readManifest } from './plugin/manifest.ts';
export { MANIFEST_SCHEMA } from './plugin/manifest-schema.ts';
export { fullName, modelSafeName, SKILL_TOOL, TOOL_SEARCH } from './plugin/names.ts';
export { resolutionOf } from './plugin/offers.ts';
export { type Resolution, resolvePlugins } from './plugin/resolver.ts';
export { pluginScaffold, type Scaffold } from './plugin/scaffold.ts';
export type { Config, PluginBlock, SecretSource } from './project/config.ts';
export { CONFIG_SCHEMA } from './project/config-schema.ts';
export * from './project/index.ts';
export type { Origin } from './project/layers.ts';
export { type OnSecret, openSecrets, type Secrets } from './project/secrets.ts';
export { type TrustReason, type TrustState, trust, trustState } from './project/trust.ts';
export type { LiveRegistry, ReadyReport, StartRegistry, StillLoading } from './registry/options.ts';
export { startRegistry } from './registry/registry.ts';
export { type Rests, restsIn } from './registry/rests.ts';
export { type PluginWatch, watchPlugins } from './registry/watch.ts';
export * from './session/index.ts';
export type { Skills } from './skills/find.ts';
export type { Skill } from './skills/skill.ts';
export { withFound } from './tools/found.ts';
export { CHASSIS_VERSION } from './version.ts';
export { type FileAt, filesAt, undoneNever } from './workspace/files-at.ts';
export {
  type Changed,
  captureFiles,
  changedSince,
  copyWorkspace,
  type Refused,
  type Restored,
  restoreFiles,
} from './workspace/restore.ts';
export { workspaceAt } from './workspace/workspace-at.ts';
