/**
 * The seventh set: office, finance, travel, shop, HR and research agents, drawn by the seed.
 *
 * Written by someone who had not read the rules. Above each scenario stands what in the record shows the fault.
 */
import { calls } from './seventh/calls.ts';
import { more } from './seventh/more.ts';
import { none } from './seventh/none.ts';
import { reading } from './seventh/reading.ts';
import { services } from './seventh/services.ts';
import { values } from './seventh/values.ts';
import type { Scenario } from './world.ts';

export const shapesSeventh: readonly Scenario[] = [...reading, ...values, ...calls, ...services, ...more];

/** Runs that fail without any cause on record. */
export const unexplainedSeventh: readonly Scenario[] = none;
