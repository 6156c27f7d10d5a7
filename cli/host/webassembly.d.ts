/** The part of the WebAssembly JavaScript interface that the host uses; TypeScript ships it only with the browser's types. */
declare namespace WebAssembly {
  interface ModuleImportDescriptor {
    module: string;
    name: string;
    kind: string;
  }
  interface ModuleExportDescriptor {
    name: string;
    kind: string;
  }
  type ModuleImports = Record<string, (...args: never[]) => number>;

  class Module {
    readonly [Symbol.toStringTag]: string;
    constructor(bytes: Uint8Array);
    static imports(module: Module): ModuleImportDescriptor[];
    static exports(module: Module): ModuleExportDescriptor[];
  }
  class Memory {
    readonly buffer: ArrayBuffer;
  }
  class Instance {
    constructor(module: Module, imports: Record<string, ModuleImports>);
    readonly exports: Readonly<Record<string, unknown>>;
  }
}
