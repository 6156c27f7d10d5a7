import { encode } from "../bytes";

/** The namespace of the module's settings, in the metadata of a route and in its own configuration. */
export const NAMESPACE = encode("attempt_router");
