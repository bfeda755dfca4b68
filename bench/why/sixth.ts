/**
 * The sixth set: office, finance, travel, shop, HR and research agents, drawn by the seed.
 *
 * Written by someone who had not read the rules. Above each scenario stands what in the record shows the fault.
 */
import { calls } from './sixth/calls.ts';
import { more } from './sixth/more.ts';
import { none } from './sixth/none.ts';
import { reading } from './sixth/reading.ts';
import { services } from './sixth/services.ts';
import { values } from './sixth/values.ts';
import type { Scenario } from './world.ts';

export const shapesSixth: readonly Scenario[] = [...reading, ...values, ...calls, ...services, ...more];

/** Runs that fail without any cause on record. */
export const unexplainedSixth: readonly Scenario[] = none;
