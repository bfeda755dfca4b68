/** The errors of this plugin: what a path or a file system call did wrong, in one sentence that a model can act on. */
import { ChassisError } from '@chassis/errors';

/** The path, or what it leads to, is not inside the workspace. */
export function outside(path: string, resolved?: string): ChassisError {
  const where = resolved === undefined || resolved === path ? '' : ` (it leads to ${resolved})`;
  return new ChassisError('PermissionDenied', `${path} is outside of the workspace${where}`, {
    data: {
      path,
      ...(resolved === undefined ? {} : { resolved }),
      fix: 'Use a path inside the workspace.',
    },
  });
}

export function refused(path: string, reason: string): ChassisError {
  return new ChassisError('PermissionDenied', `${path}: ${reason}`, { data: { path } });
}

/** The caller's input cannot be done as it is. */
export function wrong(path: string, reason: string, data: object = {}): ChassisError {
  return new ChassisError('InvalidParams', `${path}: ${reason}`, { data: { path, ...data } });
}

/** A failed file system call as an error of ours. */
export function fileProblem(path: string, thrown: unknown): unknown {
  if (thrown instanceof ChassisError) return thrown;
  const code = (thrown as NodeJS.ErrnoException | null)?.code;
  switch (code) {
    case 'ENOENT':
      return wrong(path, 'no such file or folder');
    case 'ENOTDIR':
      return wrong(path, 'a part of the path is no folder');
    case 'EISDIR':
      return wrong(path, 'is a folder, not a file');
    case 'ENAMETOOLONG':
      return wrong(path, 'the name is too long');
    case 'ELOOP':
      return refused(path, 'a part of the path became a symbolic link while it was used');
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new ChassisError('PermissionDenied', `${path}: the system does not allow it (${code})`, {
        cause: thrown,
        data: { path, errno: code },
      });
    default:
      if (code === undefined) return thrown;
      return new ChassisError('InternalError', `${path}: ${(thrown as Error).message}`, {
        cause: thrown,
        data: { path, errno: code },
      });
  }
}
