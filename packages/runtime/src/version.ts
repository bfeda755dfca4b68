/** The framework's version, which a manifest's `chassis:` range is checked against. */
export const CHASSIS_VERSION = '0.1.0';
