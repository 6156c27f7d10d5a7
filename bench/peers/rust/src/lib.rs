//! What the module does on a chain of three groups, the first with a1 and perhaps a2, in the shape of a usual Rust module: a
//! context for each request, through the SDK's own calls. Its configuration is the weight of a1 out of 100, a space, and the
//! name of the route with the chain where one filter serves all routes.

use std::cell::Cell;
use std::rc::Rc;

use proxy_wasm::traits::{Context, HttpContext, RootContext};
use proxy_wasm::types::{Action, ContextType};

const ATTEMPT_COUNT: &str = "x-envoy-attempt-count";
const SLOT: &str = "attempt_router.1";
const ROUTE: &str = "attempt_router.route";

proxy_wasm::main! {{
    proxy_wasm::set_root_context(|_| {
        Box::new(Peer { weight: 100, route: Rc::from([]), random: Rc::new(Random::seeded()) })
    });
}}

struct Peer {
    weight: u64,
    route: Rc<[u8]>,
    random: Rc<Random>,
}

impl Context for Peer {}

impl RootContext for Peer {
    fn on_configure(&mut self, _size: usize) -> bool {
        let text = String::from_utf8(self.get_plugin_configuration().unwrap_or_default());
        let Some((weight, route)) = text.as_deref().ok().and_then(|text| text.split_once(' '))
        else {
            return false;
        };
        self.route = route.as_bytes().into();
        weight.parse().map(|weight| self.weight = weight).is_ok()
    }

    fn create_http_context(&self, _id: u32) -> Option<Box<dyn HttpContext>> {
        let (weight, route, random) = (self.weight, self.route.clone(), self.random.clone());
        Some(Box::new(Request {
            weight,
            route,
            random,
        }))
    }

    fn get_type(&self) -> Option<ContextType> {
        Some(ContextType::HttpContext)
    }
}

struct Request {
    weight: u64,
    route: Rc<[u8]>,
    random: Rc<Random>,
}

impl Context for Request {}

impl HttpContext for Request {
    fn on_http_request_headers(&mut self, _count: usize, _end: bool) -> Action {
        if self.is_on_route() {
            self.decide();
        }
        Action::Continue
    }
}

impl Request {
    fn is_on_route(&self) -> bool {
        self.route.is_empty()
            || self.get_property(vec!["xds", "route_name"]).as_deref() == Some(&*self.route)
    }

    fn decide(&self) {
        let misled = self.drop_client_attempt_count();
        let other = self.weight < 100 && self.random.next() % 100 >= self.weight;
        if other {
            self.set_property(vec![SLOT], Some(b"a2"));
        }
        if misled || other {
            self.resolve_anew();
        }
    }

    fn drop_client_attempt_count(&self) -> bool {
        let sent = self.get_http_request_header(ATTEMPT_COUNT).is_some();
        if sent {
            self.set_http_request_header(ATTEMPT_COUNT, None);
        }
        sent
    }

    fn resolve_anew(&self) {
        // The route is matched again; the copy of it that stands first matches on this.
        if !self.route.is_empty() {
            self.set_property(vec![ROUTE], Some(&self.route));
        }
        let _ = self.call_foreign_function("clear_route_cache", None);
    }
}

/// SplitMix64, as in the module.
struct Random(Cell<u64>);

impl Random {
    fn seeded() -> Self {
        let mut seed = [0; 8];
        // SAFETY: the proxy writes as many bytes as it is told there are.
        unsafe { random_get(seed.as_mut_ptr(), seed.len()) };
        Self(Cell::new(u64::from_le_bytes(seed)))
    }

    fn next(&self) -> u64 {
        self.0.set(self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15));
        let mut z = self.0.get();
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

#[link(wasm_import_module = "wasi_snapshot_preview1")]
extern "C" {
    fn random_get(buffer: *mut u8, size: usize) -> u16;
}
